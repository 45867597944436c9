/** A question of the bench to one of its processes; the answer carries the same id. */
export type Question = { id: number; ask: string; options?: unknown };
export type Answer = { id: number; answer?: unknown; error?: string };

/** Answers the bench's questions of one kind, for as long as this process runs. */
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
