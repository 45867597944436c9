/**
 * The largest group of places in which every place leads to every other one, along the given steps from place to place
 * (the largest strongly connected component, by Kosaraju's algorithm).
 */
export function largestCircuit(steps: readonly (readonly [from: string, to: string])[]): Set<string> {
  const onward = new Map<string, string[]>();
  const back = new Map<string, string[]>();
  for (const [from, to] of steps) {
    onward.set(from, [...(onward.get(from) ?? []), to]);
    back.set(to, [...(back.get(to) ?? []), from]);
  }
  const order: string[] = [];
  const seen = new Set<string>();
  for (const place of onward.keys()) order.push(...visited(place, onward, seen));
  let largest = new Set<string>();
  const grouped = new Set<string>();
  for (const place of order.reverse()) {
    const group = visited(place, back, grouped);
    if (group.length > largest.size) largest = new Set(group);
  }
  return largest;
}

/** The places that can be reached and were not seen before, each one after those that it leads to. */
function visited(first: string, steps: Map<string, string[]>, seen: Set<string>): string[] {
  const order: string[] = [];
  const stack = [{ place: first, isLeft: false }];
  for (let entry = stack.pop(); entry; entry = stack.pop()) {
    const { place, isLeft } = entry;
    if (isLeft) order.push(place);
    else if (!seen.has(place)) {
      seen.add(place);
      stack.push({ place, isLeft: true }, ...(steps.get(place) ?? []).map((next) => ({ place: next, isLeft: false })));
    }
  }
  return order;
}
