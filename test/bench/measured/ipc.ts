/** A question of the bench to one of its processes. The answer has the same id. */
export type Question = { id: number; ask: string; options?: unknown };
export type Answer = { id: number; answer?: unknown; error?: string };

/** Answers all questions of one kind with this handler. */
export function answer(kind: string, handler: (options: never) => unknown): void {
  process.on('message', async ({ id, ask, options }: Question) => {
    if (ask !== kind) return;
    try {
      process.send?.({ id, answer: await handler(options as never) } satisfies Answer);
    } catch (error) {
      process.send?.({ id, error: String((error as Error).stack ?? error) } satisfies Answer);
    }
  });
}
