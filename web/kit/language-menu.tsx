import { codeOf, languageNames } from './languages.ts';

/** The word for "Language". */
const labels: Record<ReturnType<typeof codeOf>, string> = {
  en: 'Language',
  es: 'Idioma',
  fr: 'Langue',
  de: 'Sprache',
  pt: 'Idioma',
  zh: '语言',
  ar: 'اللغة',
  he: 'שפה',
};

/** Chooses the language of a page with this locale, without scripts. The choice is in the URL. */
export const LanguageMenu = ({ locale }: { locale: string }) => (
  <>
    <button
      class="btn second language-button"
      type="button"
      popovertarget="languages"
      title={labels[codeOf(locale)]}
      aria-label={`${labels[codeOf(locale)]}: ${languageNames[codeOf(locale)]}`}
    >
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <circle cx="12" cy="12" r="9" />
        <path d="M3 12h18M12 3c5 5 5 13 0 18c-5-5-5-13 0-18z" />
      </svg>
      <span>{languageNames[codeOf(locale)]}</span>
    </button>
    <nav id="languages" class="languages" popover="auto" aria-label={labels[codeOf(locale)]}>
      <ul>
        {Object.entries(languageNames).map(([code, name]) => (
          <li key={code}>
            <a href={`?lang=${code}`} lang={code} aria-current={code === codeOf(locale) ? 'true' : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  </>
);
