import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { clearOptOut, listOptOuts, type OptOut } from '../../shared/messages/numbers.ts';
import { UsageError } from '../../shared/process/command-line.ts';
import { aligned, labelledBy } from '../columns.ts';
import { recordAudit } from '../operator.ts';
import { commandOf } from '../program.ts';

const command = commandOf<Context>();
const shown = 100;

type OptOutsAnswer =
  | { optOuts: { numberId: string; at: Date; messageId: string }[] }
  | { numberId: string; cleared: true };

/** The command about phone numbers that want no text messages. */
export const optOutCommands = {
  'opt-outs': command({
    summary: 'lists or clears numbers that want no texts',
    operands: '<list|clear> [NUMBERID]',
    about: `Lists the last 100 phone numbers that the provider reported
as opted out, or lets one get text messages again. Numbers
are not stored: an id stands for each, and the message that
was refused names the ride. The ride's history names the id
too. With the provider, the person must also opt in again,
usually with a text that says START.`,
    examples: [
      'PROGRAM opt-outs list',
      'PROGRAM opt-outs clear \\\n    number_0a1b2c3d4e5f60718293a4b5c6d7e8f901234567',
    ],
    read(_values, word, numberId) {
      if (word !== 'list' && word !== 'clear') throw new UsageError('opt-outs needs one of: list, clear');
      if ((word === 'clear') !== Boolean(numberId)) throw new UsageError('clear, and only clear, needs a NUMBERID');
      return { numberId };
    },
    recorded: ({ numberId }) => (numberId ? 'by name' : 'never'),
    async run(ctx, { numberId }, by): Promise<OptOutsAnswer> {
      if (!numberId) return { optOuts: (await listOptOuts(shown)).map(presented) };
      if (!(await clearOptOut(numberId)))
        throw new AppError('not_found', { message: 'No opted-out number has this id' });
      await recordAudit(ctx.now(), by, { action: 'opt_out_cleared', about: numberId });
      return { numberId, cleared: true };
    },
    print(answer) {
      if ('cleared' in answer) {
        const labels = { numberId: 'Number id', cleared: 'Cleared' };
        return labelledBy(labels)('It gets text messages again.')(answer);
      }
      const rows = answer.optOuts.map(({ numberId, at, messageId }) => [numberId, at.toISOString(), messageId]);
      return rows.length > 0 ? aligned([['NUMBER', 'SINCE', 'MESSAGE'], ...rows]) : ['No number has opted out.'];
    },
  }),
};

const presented = ({ _id: numberId, at, messageId }: OptOut) => ({ numberId, at, messageId });
