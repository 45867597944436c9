/** The service's address in every page and example. Before a page is served, the configured address replaces it. */
export const exampleBaseUrl = 'https://rides.example';
