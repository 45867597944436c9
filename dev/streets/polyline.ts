import type { Point } from '../../shared/base/great-circle.ts';

/** Writes a line as an encoded polyline with 5 or 6 decimals, the formats `polyline` and `polyline6` of OSRM. */
export function encodePolyline(points: readonly Point[], decimals: 5 | 6): string {
  let text = '';
  let last = [0, 0];
  for (const { lat, lng } of points) {
    const next = [lat, lng].map((degrees) => Math.round(degrees * 10 ** decimals));
    next.forEach((value, axis) => {
      const step = value - (last[axis] ?? 0);
      let rest = step < 0 ? ~(step << 1) : step << 1;
      for (; rest >= 32; rest >>= 5) text += String.fromCharCode((rest & 31) + 95);
      text += String.fromCharCode(rest + 63);
    });
    last = next;
  }
  return text;
}

/** Reads an encoded polyline. */
export function decodePolyline(text: string, decimals: 5 | 6): Point[] {
  const points: Point[] = [];
  let index = 0;
  const read = () => {
    let [value, shift, part] = [0, 0, 0];
    do {
      part = text.charCodeAt(index++) - 63;
      value |= (part & 31) << shift;
      shift += 5;
    } while (part >= 32);
    return value & 1 ? ~(value >> 1) : value >> 1;
  };
  for (let [lat, lng] = [0, 0]; index < text.length; ) {
    lat += read();
    lng += read();
    points.push({ lat: lat / 10 ** decimals, lng: lng / 10 ** decimals });
  }
  return points;
}
