import type { PublicRequest } from '../kit/answer.ts';
import { isLanguage, localeFor, type PageLanguage, pageLanguages, type TextsByLanguage } from '../kit/languages.ts';
import { driveArabic } from './languages/drive-arabic.ts';
import { driveChinese } from './languages/drive-chinese.ts';
import { type DriveKey, driveEnglish } from './languages/drive-english.ts';
import { driveFrench } from './languages/drive-french.ts';
import { driveGerman } from './languages/drive-german.ts';
import { driveHebrew } from './languages/drive-hebrew.ts';
import { drivePortuguese } from './languages/drive-portuguese.ts';
import { driveSpanish } from './languages/drive-spanish.ts';

export const driveTexts: TextsByLanguage<DriveKey> = {
  en: driveEnglish,
  es: driveSpanish,
  fr: driveFrench,
  de: driveGerman,
  pt: drivePortuguese,
  zh: driveChinese,
  ar: driveArabic,
  he: driveHebrew,
};

/** The texts of the driver's page in the language of a locale. */
export const driveLanguage = pageLanguages(driveTexts);

const yearMs = 365 * 86_400_000;

/**
 * The language of the driver's page: the one that the driver chose, on this page or before, or else that of the browser.
 * Only a choice sets the cookie.
 */
export function languageFor({ query, header, hostCookie }: PublicRequest): PageLanguage<DriveKey> {
  const kept = hostCookie('language');
  const chosen = query('lang');
  if (isLanguage(chosen)) kept.write(chosen, yearMs);
  return driveLanguage(localeFor({ query: () => (isLanguage(chosen) ? chosen : kept.read()), header }));
}
