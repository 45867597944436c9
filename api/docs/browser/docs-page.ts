import { addCopyButtons } from './copy.ts';
import { startSearch } from './search.ts';
import { followSections } from './sections.ts';
import { startTabs } from './tabs.ts';

/** Optional comfort: the pages are complete without scripts. */
startTabs();
addCopyButtons();
followSections();
const search = document.querySelector<HTMLElement>('.search');
if (search) startSearch(search);
