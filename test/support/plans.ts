import mongoose from 'mongoose';

/** How MongoDB executes a query. */
export interface Plan {
  executionStats: { totalKeysExamined: number; totalDocsExamined: number };
  /** The stages of the winning plan, as JSON. */
  stages: string;
}

/** Resolves with the plan of each query that `run` makes, with the query's own options. */
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
    // Deleting the override restores the original method, which is inherited.
    Reflect.deleteProperty(prototype, 'toArray');
  }
  return plans;
}
