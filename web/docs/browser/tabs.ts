const storageKey = 'docs-language';

/** Turns each group of code blocks into tabs. The chosen language applies to all groups, and is remembered. */
export function startTabs(): void {
  const groups = [...document.querySelectorAll<HTMLElement>('.tabs')].map(makeTabs);
  const choose = (language: string) => {
    for (const show of groups) show(language);
  };
  const remembered = rememberedLanguage();
  if (remembered) choose(remembered);
  document.addEventListener('click', ({ target }) => {
    const tab = target instanceof Element && target.closest('[role=tab]');
    if (!tab) return;
    choose(tab.textContent);
    remember(tab.textContent);
  });
}

/** Returns a function that shows the block of a language. */
function makeTabs(group: HTMLElement, groupIndex: number): (language: string) => void {
  const list = group.querySelector('.tab-list') as HTMLElement;
  const tabs = [...list.querySelectorAll('button')];
  const panels = [...group.querySelectorAll<HTMLElement>('[data-tab]')];
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', 'Language');
  for (const [index, tab] of tabs.entries()) {
    const panel = panels[index] as HTMLElement;
    tab.id = `tab-${groupIndex}-${index}`;
    panel.id = `${tab.id}-panel`;
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-controls', panel.id);
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', tab.id);
  }
  const show = (language: string) => {
    const chosen = panels.findIndex(({ dataset }) => dataset.tab === language);
    if (chosen === -1) return;
    for (const [index, panel] of panels.entries()) {
      panel.hidden = index !== chosen;
      tabs[index]?.setAttribute('aria-selected', String(index === chosen));
      tabs[index]?.setAttribute('tabindex', index === chosen ? '0' : '-1');
    }
  };
  list.addEventListener('keydown', ({ key }) => {
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
    const at = tabs.indexOf(document.activeElement as HTMLButtonElement);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (step === 0 || at === -1 || !next) return;
    next.click();
    next.focus();
  });
  show(panels[0]?.dataset.tab ?? '');
  group.classList.add('has-tabs');
  return show;
}

/** Browsers can deny access to storage. */
function remember(language: string): void {
  try {
    localStorage.setItem(storageKey, language);
  } catch {}
}

function rememberedLanguage(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}
