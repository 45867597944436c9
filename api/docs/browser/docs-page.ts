import { addCopyButtons } from './copy.ts';
import { startSearch } from './search.ts';
import { followSections } from './sections.ts';
import { makeTabs } from './tabs.ts';

/** Optional comfort: the pages are complete without scripts. */
for (const group of document.querySelectorAll<HTMLElement>('.tabs')) makeTabs(group);
addCopyButtons();
followSections();
const search = document.querySelector<HTMLElement>('.search');
if (search) startSearch(search);
