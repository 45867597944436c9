export interface Point {
  lat: number;
  lng: number;
}

export const earthRadiusKm = 6371.0088;
export const radians = (inDegrees: number): number => (inDegrees * Math.PI) / 180;

/** The great-circle distance in km. Replaces turf's function, which returns NaN for antipodal points. Pure. */
export function haversineKm(from: Point, to: Point): number {
  const halfLat = Math.sin(radians(to.lat - from.lat) / 2);
  const halfLng = Math.sin(radians(to.lng - from.lng) / 2);
  const chord = halfLat ** 2 + Math.cos(radians(from.lat)) * Math.cos(radians(to.lat)) * halfLng ** 2;
  return 2 * earthRadiusKm * Math.asin(Math.min(1, Math.sqrt(chord)));
}

/** The great-circle distance in km, to two decimals (contract, section 2.1). */
export const greatCircleKm = (from: Point, to: Point): number => Number(haversineKm(from, to).toFixed(2));
