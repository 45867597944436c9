const storageKey = 'docs-language';

/** Turns a group of code blocks into tabs. The chosen language is remembered for all pages. */
export function makeTabs(group: HTMLElement): void {
  const panels = [...group.querySelectorAll<HTMLElement>('[data-tab]')];
  const list = document.createElement('div');
  list.className = 'tab-list';
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', 'Language');
  const tabs = panels.map((panel, index) => {
    const name = panel.dataset.tab ?? '';
    const tab = document.createElement('button');
    tab.type = 'button';
    tab.textContent = name;
    tab.id = `tab-${index}-${Math.random().toString(36).slice(2, 8)}`;
    tab.setAttribute('role', 'tab');
    panel.id = `${tab.id}-panel`;
    tab.setAttribute('aria-controls', panel.id);
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', tab.id);
    tab.addEventListener('click', () => {
      show(index);
      remember(name);
    });
    return tab;
  });
  const show = (chosen: number) => {
    for (const [index, panel] of panels.entries()) {
      panel.hidden = index !== chosen;
      tabs[index]?.setAttribute('aria-selected', String(index === chosen));
      tabs[index]?.setAttribute('tabindex', index === chosen ? '0' : '-1');
    }
  };
  list.addEventListener('keydown', ({ key }) => {
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
    const at = tabs.findIndex((tab) => tab === document.activeElement);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (step === 0 || at === -1 || !next) return;
    next.click();
    next.focus();
  });
  list.append(...tabs);
  group.prepend(list);
  group.classList.add('has-tabs');
  const remembered = panels.findIndex(({ dataset }) => dataset.tab === rememberedLanguage());
  show(Math.max(0, remembered));
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
