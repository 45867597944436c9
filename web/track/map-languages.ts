import { pageLanguages, type TextsByLanguage } from '../kit/languages.ts';
import type { MapNames } from '../kit/map-data.ts';
import { mapArabic } from './languages/map-arabic.ts';
import { mapChinese } from './languages/map-chinese.ts';
import { type MapKey, mapEnglish } from './languages/map-english.ts';
import { mapFrench } from './languages/map-french.ts';
import { mapGerman } from './languages/map-german.ts';
import { mapHebrew } from './languages/map-hebrew.ts';
import { mapPortuguese } from './languages/map-portuguese.ts';
import { mapSpanish } from './languages/map-spanish.ts';
import type { MapLanguage } from './track-words.ts';

export const mapTexts: TextsByLanguage<MapKey> = {
  en: mapEnglish,
  es: mapSpanish,
  fr: mapFrench,
  de: mapGerman,
  pt: mapPortuguese,
  zh: mapChinese,
  ar: mapArabic,
  he: mapHebrew,
};

/** The texts of the live map in the language of a locale. */
export const mapLanguage = pageLanguages(mapTexts);

/** The names on a map. */
export const mapNames = ({ text }: MapLanguage): MapNames => ({
  pickup: text('page.pickup'),
  destination: text('page.destination'),
  recenter: text('page.recenter'),
  zoomIn: text('page.zoomIn'),
  zoomOut: text('page.zoomOut'),
  north: text('page.north'),
});
