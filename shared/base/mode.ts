/** The mode of a key and of the rides it creates (contract, section 5.2). A test ride has a simulated driver. */
export type Mode = 'live' | 'test';
