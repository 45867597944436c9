/** A ride as the API shows it: the fields that the demo reads. */
export type Ride = {
  rideId: string;
  status: string;
  fare: number;
  agreedPrice?: number;
  distanceKm: number;
  trackUrl: string;
  driver?: { name: string };
  liveLocation?: { lat: number; lng: number };
};

export type ListedOffer = {
  offerId: string;
  price: number;
  etaMinutes: number;
  driver: { name: string; plate: string };
};

/** A partner's client of the API: the operations that the demo uses. */
export type Partner = {
  createRide(ride: object): Promise<Ride>;
  retrieveRide(rideId: string): Promise<Ride>;
  listOffers(rideId: string): Promise<{ offers: ListedOffer[] }>;
  acceptOffer(rideId: string, offerId: string): Promise<{ status: string }>;
};

export function partnerWith(key: string, baseUrl: string): Partner {
  /** Rejects with the API's error text if the answer is an error. */
  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    const answer = (await response.json()) as T & { error?: string };
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${answer.error}`);
    return answer;
  }
  return {
    createRide: (ride) => call('POST', '/rides', ride),
    retrieveRide: (rideId) => call('GET', `/rides/${rideId}`),
    listOffers: (rideId) => call('GET', `/rides/${rideId}/offers`),
    acceptOffer: (rideId, offerId) => call('POST', `/rides/${rideId}/accept`, { offerId }),
  };
}
