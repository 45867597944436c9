import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { IntlMessageFormat } from 'intl-messageformat';
import { english } from '../../shared/messages/languages/english.ts';
import { languages, type TextValues, textOf } from '../../shared/messages/texts.ts';
import { driveTexts } from '../../web/drive/drive-languages.ts';
import { pageLanguages, type TextsByLanguage } from '../../web/kit/languages.ts';
import { mapTexts } from '../../web/track/map-languages.ts';

interface Part {
  value?: unknown;
  type: number;
  options?: Record<string, { value: Part[] }>;
}
const literal = 0;
const number = 7;

/** The names of the placeholders in a text, those inside plurals and choices included. */
function placeholders(parts: readonly Part[]): string[] {
  const names = parts.flatMap(({ type, value, options = {} }) => [
    ...(type === literal || type === number ? [] : [String(value)]),
    ...Object.values(options).flatMap((option) => placeholders(option.value)),
  ]);
  return [...new Set(names)].sort();
}
const placeholdersIn = (text: string, locale: string) =>
  placeholders(new IntlMessageFormat(text, locale).getAst() as Part[]);

/** The texts of pages, with the folder whose files name the keys. */
const pages: [name: string, texts: TextsByLanguage<string>, folder: string][] = [
  ['the live map', mapTexts, 'web/track'],
  ["the driver's page", driveTexts, 'web/drive'],
];

for (const [name, texts, folder] of pages) {
  describe(`texts of ${name} in every language`, () => {
    for (const [locale, own] of Object.entries(texts)) {
      it(`${locale} has every text, with the placeholders of the English one, as the library writes it`, () => {
        expect(Object.keys(own)).to.have.ordered.members(Object.keys(texts.en));
        const language = pageLanguages(texts)(locale);
        for (const [key, text] of Object.entries(own)) {
          const names = placeholdersIn(text, locale);
          expect(names, key).to.deep.equal(placeholdersIn(texts.en[key] ?? '', 'en'));
          const library = new IntlMessageFormat(text, locale);
          for (const count of [0, 1, 2, 3, 11, 100, 1_234]) {
            const values = Object.fromEntries(names.map((each) => [each, count]));
            expect(language.text(key, values), key).to.equal(library.format(values)).and.not.match(/[{}#]/);
          }
        }
      });
    }

    it('uses every text', () => {
      const sources = fs
        .readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('languages/'))
        .map((file) => fs.readFileSync(path.join(folder, file), 'utf8'))
        .join();
      const templates = [...sources.matchAll(/`(\w+\.)\$\{[\w.]+\}((?:\.\w+)?)`/g)].map(
        ([, before, after]) => new RegExp(`^${before}\\w+${after}$`),
      );
      const isUsed = (key: string) => sources.includes(`'${key}'`) || templates.some((template) => template.test(key));
      expect(Object.keys(texts.en).filter((key) => !isUsed(key))).to.deep.equal([]);
    });
  });
}

describe('text messages in every language', () => {
  const now = new Date('2026-11-27T12:00:00Z');
  const values: TextValues = {
    sender: 'Hotel Lumen',
    passenger: 'Ann',
    driver: 'Alex',
    vehicle: 'Toyota Camry, silver',
    plate: 'TST 1043',
    minutes: 4,
    zone: 'America/New_York',
    now,
    link: 'https://rides.example/track/x',
  };

  for (const [locale, texts] of Object.entries(languages)) {
    it(`${locale} has every text, with the placeholders of the English one`, () => {
      expect(Object.keys(texts)).to.have.members(Object.keys(english));
      for (const [key, text] of Object.entries(english)) {
        const own = texts[key as keyof typeof english];
        expect(placeholdersIn(own, locale), key).to.deep.equal(placeholdersIn(text, 'en'));
      }
    });

    it(`${locale} has a form for every number of minutes, and for a passenger without a name`, () => {
      const other = new IntlMessageFormat(texts['passenger.found'], locale);
      for (const minutes of [0, 1, 2, 3, 11, 100]) {
        const text = textOf('found', 'passenger', locale, { ...values, minutes });
        expect(text).to.include('Hotel Lumen: ').and.include('TST 1043').and.not.match(/[{}#]/);
        expect(text.replace(/^\u200f/, '')).to.equal(`Hotel Lumen: ${other.format({ ...values, minutes })}`);
      }
      const named = textOf('cancelled', 'contact', locale, values);
      const unnamed = textOf('cancelled', 'contact', locale, { ...values, passenger: '' });
      expect(named).to.include('Ann');
      expect(unnamed).to.not.equal(named.replace('Ann', '')).and.not.match(/[{}]/);
    });
  }

  it('texts from right to left begin with the mark of that direction', () => {
    for (const locale of Object.keys(languages)) {
      const isMarked = textOf('arrived', 'passenger', locale, values).startsWith('\u200fHotel Lumen: ');
      expect(isMarked, locale).to.equal(['ar', 'he'].includes(locale));
    }
  });

  it('a driver for a ride for later comes at its time, or in minutes if that is later', () => {
    const at = (minutes: number) => ({ ...values, pickupAt: new Date(now.getTime() + minutes * 60_000) });
    for (const to of ['passenger', 'contact'] as const) {
      expect(textOf('found', to, 'en', at(30))).to.match(/ for 7:30\sAM is Alex: /);
      for (const minutes of [3, -20]) expect(textOf('found', to, 'en', at(minutes))).to.include(' in about 4 min:');
    }
  });

  it('a sentence has one full stop after a time that ends with one', () => {
    const later = { ...values, pickupAt: new Date('2026-11-27T19:30:00Z') };
    expect(textOf('booked', 'passenger', 'es-MX', later)).to.match(/2:30\sp\.\s?m\. Le avisaremos/);
    expect(textOf('booked', 'passenger', 'en-CA', later)).to.match(/2:30\sp\.m\. You will/);
  });

  it('one minute in Spanish is no plural', () => {
    for (const to of ['passenger', 'contact'] as const) {
      expect(textOf('found', to, 'es', { ...values, minutes: 1 })).to.include(' en 1 min:');
      expect(textOf('found', to, 'es', values)).to.include(' en unos 4 min:');
    }
    const { text } = pageLanguages(driveTexts)('es');
    expect([1, 4].map((minutes) => text('eta', { minutes }))).to.deep.equal(['1 min', 'Unos 4 min']);
  });

  it('the region of a locale decides the form of times, and a language without texts is English', () => {
    const later = { ...values, pickupAt: new Date('2026-11-27T19:30:00Z') };
    expect(textOf('booked', 'passenger', 'en-GB', later)).to.include('14:30');
    expect(textOf('booked', 'passenger', 'es-ES', later))
      .to.include('14:30')
      .and.include('Su viaje');
    expect(textOf('booked', 'passenger', undefined, later)).to.match(/2:30\sPM/);
    expect(textOf('booked', 'passenger', 'fi', later))
      .to.match(/2:30\sPM/)
      .and.include('Your ride');
    expect(textOf('cancelled', 'passenger', 'zh-Hant-TW', values)).to.include('您的行程已取消');
    const tomorrow = { ...values, pickupAt: new Date('2026-12-01T19:30:00Z') };
    expect(textOf('booked', 'passenger', 'zh-Hant-TW', tomorrow))
      .to.include('周二')
      .and.not.include('週二');
    expect(textOf('cancelled', 'passenger', 'iw', values)).to.include('בוטלה');
  });
});
