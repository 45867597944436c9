/**
 * Preloaded with `--import`. Shifts the process's clock (Date) by SHIFTED_CLOCK_MS. Timers and intervals are not
 * affected.
 */
const shiftMs = Number(process.env.SHIFTED_CLOCK_MS);
const RealDate = Date;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now() + shiftMs] : args, newTarget),
  apply: () => new RealDate(RealDate.now() + shiftMs).toString(),
  get: (target, name) => (name === 'now' ? () => RealDate.now() + shiftMs : Reflect.get(target, name)),
});
