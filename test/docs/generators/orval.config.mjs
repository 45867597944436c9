// Orval needs Node 22, but only for this function.
Map.groupBy ??= (items, keyOf) => {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
};

const client = (name) => ({
  input: `${name}.json`,
  output: { target: `orval/${name}/api.ts`, schemas: `orval/${name}/model`, client: 'fetch' },
});

export default { partners: client('openapi'), drivers: client('drivers-openapi') };
