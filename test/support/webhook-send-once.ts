// Makes one attempt and prints its result: node --import tsx webhook-send-once.ts <origin> <timeoutMs>
import { send } from '../../shared/outbound/send.ts';
import { attemptTo } from './attempt.ts';

const [origin = '', timeoutMs] = process.argv.slice(2);
const result = await send(attemptTo({ origin }, { timeoutMs: Number(timeoutMs) }));
console.log(JSON.stringify(result));
