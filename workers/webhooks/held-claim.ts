import { ageOf, type Claimed, claimEvent, thisMoment } from './claim.ts';

/**
 * Counted from when MongoDB was asked, since the process may have been paused before it saw the answer. Of the claim's 12 s
 * the attempt's 8 s and a second to record its outcome are then left, also where MongoDB takes over a second to answer.
 */
const maxAgeMs = 3_000;

/** Counted from MongoDB's answer: after that the settings that were read before the claim are too old as well. */
const maxConnectMs = 1_000;

/** The claim on an event, as this process knows it. */
export function heldClaim(claimed: Claimed, token: string) {
  let { claim, askedAt } = claimed;
  let answeredAt = thisMoment();
  return {
    /** The claim while a request may be written under it, else null. */
    fresh: () => (ageOf(askedAt) <= maxAgeMs && ageOf(answeredAt) <= maxConnectMs ? claim : null),
    /** Claims the event anew; false when another run has it. */
    renew: async (): Promise<boolean> => {
      const renewed = await claimEvent(claimed.ride._id, claimed.event.seq, token);
      if (renewed) ({ claim, askedAt } = renewed);
      answeredAt = thisMoment();
      return renewed !== null;
    },
  };
}
