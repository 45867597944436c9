import mongoose from 'mongoose';

/** How MongoDB carries out a query. */
export interface Plan {
  executionStats: { totalKeysExamined: number; totalDocsExamined: number };
  /** The stages of the winning plan, as JSON. */
  stages: string;
}

/** Runs something, and resolves with the plan of each query that it has made: of the query itself, with all of its options. */
export async function plansOf(run: () => Promise<unknown>): Promise<Plan[]> {
  const { prototype } = mongoose.mongo.FindCursor;
  const { toArray } = prototype;
  const plans: Plan[] = [];
  prototype.toArray = async function () {
    const { executionStats, queryPlanner } = (await this.clone().explain('executionStats')) as mongoose.mongo.Document;
    plans.push({ executionStats, stages: JSON.stringify(queryPlanner.winningPlan) });
    return toArray.call(this);
  };
  try {
    await run();
  } finally {
    // It was inherited.
    Reflect.deleteProperty(prototype, 'toArray');
  }
  return plans;
}
