/**
 * So many attempts of one key may be under way in this process's fast lane. Keys that are not known to be slow yet, for
 * which the first timeout takes 8 s, can then not take all places: what one has beyond these goes to the slow lane.
 */
const maxOfOneKey = 8;

const underWay = new Map<string, number>();

/** Takes a place in the fast lane for a key; null when the key has all it may have. Give it back in any case. */
export function enterFastLane(keyId: string): { leave(): void } | null {
  const taken = underWay.get(keyId) ?? 0;
  if (taken >= maxOfOneKey) return null;
  underWay.set(keyId, taken + 1);
  return {
    leave() {
      const left = (underWay.get(keyId) ?? 1) - 1;
      if (left > 0) underWay.set(keyId, left);
      else underWay.delete(keyId);
    },
  };
}
