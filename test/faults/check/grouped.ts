/** The items by what they have in common, each group in their order. */
export function grouped<Item, Common>(items: Iterable<Item>, common: (item: Item) => Common): Map<Common, Item[]> {
  const groups = new Map<Common, Item[]>();
  for (const item of items) groups.set(common(item), [...(groups.get(common(item)) ?? []), item]);
  return groups;
}
