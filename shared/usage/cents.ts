/** A price in USD as whole cents. Half a cent, as it is written, is rounded up: 1.005 USD are 101 cents. Pure. */
export const centsOf = (usd: number): number => Math.round(Number((usd * 100).toFixed(6)));
