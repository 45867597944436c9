import type { Coords, GridLayer } from 'leaflet';
import { PMTiles } from 'pmtiles';
import {
  CenteredTextSymbolizer,
  type Feature,
  type LabelRule,
  LineLabelSymbolizer,
  LineSymbolizer,
  leafletLayer,
  linear,
  type PaintRule,
  PolygonSymbolizer,
} from 'protomaps-leaflet';

/**
 * A layer with the streets of a `.pmtiles` file in the schema of Protomaps, in the colours of our pages. Rejects if the
 * file cannot be read. Nothing else knows what draws them.
 */
export async function createStreets(url: string): Promise<GridLayer> {
  const file = new PMTiles(url);
  const { minLat, minLon, maxLat, maxLon, maxZoom } = await file.getHeader();
  const layer = leafletLayer({
    url: file,
    maxDataZoom: maxZoom,
    bounds: [
      [minLat, minLon],
      [maxLat, maxLon],
    ],
    // The map scales tiles between two zooms, so they are drawn with more pixels than the screen has.
    devicePixelRatio: Math.max(2, devicePixelRatio),
    attribution: '',
    paintRules: ground(),
    labelRules: labels(),
  });
  const redraw = () => {
    zoom = layer._map?.getZoom() ?? 0;
    colours.clear();
    layer.clearLayout();
    const shown = Object.values(layer._tiles as Record<string, { coords: Coords }>);
    for (const { coords } of shown.filter((tile) => tile.coords.z === layer._tileZoom))
      layer.rerenderTile(layer._tileCoordsToKey(layer._wrapCoords(coords)));
  };
  layer.once('add', () => {
    zoom = layer._map.getZoom();
    layer._map.on('zoomend', redraw);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  return layer as unknown as GridLayer;
}

/** The zoom of the map. Tiles have whole zooms, and are scaled to it. */
let zoom = 0;

const colours = new Map<string, string>();

/** The present value of a colour of tokens.css. */
const colour = (name: string) => (): string => {
  const known = colours.get(name) ?? getComputedStyle(document.documentElement).getPropertyValue(`--map-${name}`);
  colours.set(name, known);
  return known;
};

const isOf =
  (...kinds: string[]) =>
  (_zoom: number, { props }: Feature): boolean =>
    kinds.includes(String(props.kind));

const greens = ['park', 'forest', 'wood', 'nature_reserve', 'golf_course', 'cemetery', 'grass', 'national_park'];
const mainRoads = ['highway', 'major_road'];

/** The width of a street (px) at the zooms 12, 14, 16 and 18, with more for its casing. */
const widths = (at: [number, number, number, number], more = 0) =>
  linear(at.map((width, index) => [12 + index * 2, width + more]));

/** From below to above. */
function ground(): PaintRule[] {
  const area = (dataLayer: string, fill: string, ...kinds: string[]): PaintRule => ({
    dataLayer,
    symbolizer: new PolygonSymbolizer({ fill: colour(fill) }),
    ...(kinds.length > 0 && { filter: isOf(...kinds) }),
  });
  const line = (dataLayer: string, color: string, width: (zoom: number) => number, ...kinds: string[]): PaintRule => ({
    dataLayer,
    symbolizer: new LineSymbolizer({ color: colour(color), width, lineCap: 'round', lineJoin: 'round' }),
    filter: isOf(...kinds),
  });
  const [minor, major, highway] = [
    [0.5, 1.5, 4, 10],
    [1.5, 3, 7, 16],
    [2, 4, 9, 18],
  ] as const satisfies number[][];
  return [
    area('earth', 'ground'),
    area('landuse', 'green', ...greens),
    area('landuse', 'site', 'hospital', 'school', 'university', 'college', 'industrial', 'aerodrome', 'railway'),
    area('landuse', 'path', 'pedestrian'),
    area('water', 'water'),
    line('water', 'water', widths([1, 2, 4, 8]), 'river', 'canal', 'stream'),
    { ...area('buildings', 'building'), minzoom: 15 },
    line('roads', 'rail', widths([0.5, 1, 1.5, 2]), 'rail'),
    { ...line('roads', 'path', widths([0, 0.5, 1.5, 3]), 'path'), minzoom: 15 },
    { ...line('roads', 'street-edge', widths(minor, 1.5), 'minor_road'), minzoom: 15 },
    line('roads', 'main-street-edge', widths(major, 1.5), 'major_road'),
    line('roads', 'main-street-edge', widths(highway, 1.5), 'highway'),
    line('roads', 'street', widths(minor), 'minor_road'),
    line('roads', 'main-street', widths(major), 'major_road'),
    line('roads', 'main-street', widths(highway), 'highway'),
  ];
}

/**
 * Few labels, because the ride is more important: the names of districts, large parks and main streets. Close by, also
 * the names of other streets, because people look for a door.
 */
function labels(): LabelRule[] {
  const [fill, stroke] = [colour('label'), colour('ground')];
  const name = (size: number, weight = 400) => ({
    fill,
    stroke,
    width: 2,
    lineHeight: 1.4,
    // As large at every zoom.
    font: (tileZoom: number) => `${weight} ${(size * 2 ** (tileZoom - zoom)).toFixed(1)}px system-ui, sans-serif`,
  });
  const streetName = {
    dataLayer: 'roads',
    symbolizer: new LineLabelSymbolizer({ ...name(12), width: 3, position: 2, repeatDistance: 500 }),
  };
  return [
    {
      dataLayer: 'places',
      maxzoom: 15,
      symbolizer: new CenteredTextSymbolizer(name(13, 600)),
      filter: isOf('locality', 'neighbourhood', 'macrohood'),
    },
    { ...streetName, minzoom: 13, filter: isOf(...mainRoads) },
    { ...streetName, minzoom: 16, filter: isOf('minor_road') },
    {
      dataLayer: 'pois',
      minzoom: 13,
      symbolizer: new CenteredTextSymbolizer({ ...name(12), fill: colour('green-label') }),
      filter: (zoom, { props }) => isOf('park', 'forest', 'nature_reserve')(zoom, { props } as Feature),
    },
  ];
}
