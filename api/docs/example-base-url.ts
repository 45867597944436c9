/** The service's address in every page and example. What is served has the configured address in its place. */
export const exampleBaseUrl = 'https://rides.example';
