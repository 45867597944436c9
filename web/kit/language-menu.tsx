import { codeOf, languageNames } from './languages.ts';

interface LanguageMenuProps {
  /** The locale of the page. */
  locale: string;
  /** The word for "Language". */
  label: string;
}

/** Chooses the language of a page, without scripts. The choice is in the URL. */
export const LanguageMenu = ({ locale, label }: LanguageMenuProps) => (
  <>
    <button
      class="btn second language-button"
      type="button"
      popovertarget="languages"
      title={label}
      aria-label={`${label}: ${languageNames[codeOf(locale)]}`}
    >
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <circle cx="12" cy="12" r="9" />
        <path d="M3 12h18M12 3c5 5 5 13 0 18c-5-5-5-13 0-18z" />
      </svg>
      <span>{languageNames[codeOf(locale)]}</span>
    </button>
    <nav id="languages" class="languages" popover="auto" aria-label={label}>
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
