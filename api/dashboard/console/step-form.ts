import { AppError } from '../../../shared/base/errors.ts';
import { type HandStep, plainHandSteps } from '../../../shared/rides/manual-steps.ts';
import type { Form } from '../../http/body.ts';
import { faultsIn, validate } from '../../http/validate.ts';
import { manualOfferSchema } from '../../rides/fields.ts';
import { numberIn } from './ride-form.ts';

/** The step by hand that a form asks for, or what is wrong with it. Throws `not_found` for a step that there is not. */
export function handStepIn(name: string, form: Form): { step: HandStep } | { fault: string } {
  if (name === 'withdraw') return { step: { step: name, offerId: form.text('offerId') } };
  if (name === 'offer') return offerIn(form);
  const step = plainHandSteps.find((known) => known === name);
  if (!step) throw new AppError('not_found');
  return { step: { step } };
}

const labels: Record<string, string> = { price: 'The price', etaMinutes: 'The minutes until the pickup' };

function offerIn(form: Form): { step: HandStep } | { fault: string } {
  const typed = { price: numberIn(form.text('price')), etaMinutes: numberIn(form.text('etaMinutes')) };
  const [fault] = Object.entries(faultsIn(manualOfferSchema, typed));
  if (fault) return { fault: `${labels[fault[0]]} ${fault[1]}` };
  return { step: { step: 'offer', ...validate(manualOfferSchema, typed) } };
}
