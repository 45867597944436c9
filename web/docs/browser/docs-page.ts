import { addCopyButtons } from './copy.ts';
import { startSearch } from './search.ts';
import { followSections, showCurrentPage } from './sections.ts';
import { startTabs } from './tabs.ts';

/** Optional comfort: the pages are complete without scripts. */
startTabs();
addCopyButtons();
showCurrentPage();
followSections();
const search = document.querySelector<HTMLElement>('.search');
if (search) startSearch(search);
