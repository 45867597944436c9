import os from 'node:os';

/** The pace of a load. The pauses between creations, drivers' polls and people's tasks are multiplied by `slowdown`. */
export interface Pace {
  /** 1 as planned; 2 for half as many requests. */
  readonly slowdown: number;
}

export interface AdaptedPace extends Pace {
  /** Stops adapting, and returns the mean slowdown since the start. */
  stop(): number;
}

export const plannedPace: Pace = { slowdown: 1 };

const everyMs = 1_000;
/** With less idle time than this, the load becomes slower; with more than `plentyIdle`, faster again. */
const littleIdle = 0.05;
const plentyIdle = 0.15;
/** A load that is even slower would reach few of the places where processes are killed. */
const maxSlowdown = 4;
const stepFactor = 1.25;

/**
 * Starts to adapt a load to the machine, so that some of its CPU time stays idle. On a machine that is always busy,
 * requests take longer than the service's time limits allow, although no promise is broken.
 */
export function startPace(): AdaptedPace {
  // Processes that have just started need more CPU time, so the load starts slowly. With idle time, it has the planned
  // pace after 7 s.
  let slowdown = maxSlowdown;
  let seconds = 0;
  let sum = 0;
  let before = cpuTimes();
  const timer = setInterval(() => {
    const now = cpuTimes();
    const idle = (now.idle - before.idle) / (now.total - before.total);
    before = now;
    if (idle < littleIdle) slowdown = Math.min(slowdown * stepFactor, maxSlowdown);
    else if (idle > plentyIdle) slowdown = Math.max(slowdown / stepFactor, 1);
    seconds += 1;
    sum += slowdown;
  }, everyMs);
  return {
    get slowdown() {
      return slowdown;
    },
    stop() {
      clearInterval(timer);
      return seconds === 0 ? 1 : sum / seconds;
    },
  };
}

/** The CPU time of all cores since the start of the machine, in ms. */
function cpuTimes(): { idle: number; total: number } {
  const times = os.cpus().map(({ times }) => times);
  const sumOf = (values: number[]) => values.reduce((sum, value) => sum + value, 0);
  return { idle: sumOf(times.map(({ idle }) => idle)), total: sumOf(times.flatMap((one) => Object.values(one))) };
}
