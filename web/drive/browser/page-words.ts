import { languageOf } from '../../kit/message-format.ts';
import { driveWords } from '../drive-words.ts';
import { element } from './elements.ts';

/** The texts in the language of this page, which embeds them. */
export const texts = driveWords(languageOf(document.documentElement.lang, JSON.parse(element('texts').textContent)));
export const { text } = texts;
