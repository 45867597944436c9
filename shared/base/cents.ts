/** A price in USD as whole cents, rounded half up in its decimal form: 1.005 USD is 101 cents. Pure. */
export const centsOf = (usd: number): number => Math.round(Number((usd * 100).toFixed(6)));
