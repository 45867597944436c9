import type { Locator, Page } from 'playwright-core';

/** `PACE=person` slows these tests down to a person's pace, and prints the seconds and clicks of each task. */
const isSlow = process.env.PACE === 'person';
const pauseMs = { click: 1_000, key: 300, character: 90, newPage: 2_000 };

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, isSlow ? ms : 0));

/** Somebody who uses a page: reads each new page, thinks before each click, and types one character at a time. */
export function newPerson(task: string) {
  const startedAt = performance.now();
  let clicks = 0;
  const point = async (target: Locator, act: () => Promise<void>) => {
    await target.waitFor();
    await pause(pauseMs.click);
    clicks += 1;
    await act();
  };
  return {
    click: (target: Locator) => point(target, () => target.click()),
    /** Holds a button for longer than it takes to act. */
    hold: (target: Locator) => point(target, () => target.click({ delay: 1_300 })),
    async type(field: Locator, text: string) {
      await point(field, () => field.click());
      await field.pressSequentially(text, { delay: isSlow ? pauseMs.character : 0 });
    },
    /** Types into the field that has the focus. */
    async keys(page: Page, text: string) {
      await pause(pauseMs.click);
      await page.keyboard.type(text, { delay: isSlow ? pauseMs.character : 0 });
    },
    /** Presses a key, several times without looking in between. */
    async press(page: Page, key: string, times = 1) {
      for (let time = 0; time < times; time += 1) {
        await pause(pauseMs.key);
        await page.keyboard.press(key);
      }
    },
    /** Waits for a part of a new page, and reads the page. */
    async read(part: Locator) {
      await part.waitFor();
      await pause(pauseMs.newPage);
    },
    done() {
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
      if (isSlow) console.log(`${task}: ${seconds} s, ${clicks} clicks`);
    },
  };
}
