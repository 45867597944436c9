/** The addresses of the rooms that a key's pages lead to. */
export const keysPath = '/dashboard/keys';
export const keyPath = (keyId: string): string => `${keysPath}/${keyId}`;
export const ridesPath = (keyId: string): string => `/dashboard/rides?key=${keyId}`;
export const deliveriesPath = (keyId: string): string => `/dashboard/deliveries?key=${keyId}`;
export const failedDeliveriesPath = (keyId: string): string => `${deliveriesPath(keyId)}&outcome=missed`;
