/** The types of cars (contract, section 2.1). A `regular` ride is for all of them, the others for cars of that type. */
export const carTypes = ['regular', 'comfort', 'family'] as const;
export type CarType = (typeof carTypes)[number];
