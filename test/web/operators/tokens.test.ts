import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import mongoose from 'mongoose';
import { AuditModel } from '../../../shared/accounts/audit.ts';
import { LimitModel } from '../../../shared/accounts/limit.ts';
import {
  createToken,
  OperatorTokenModel,
  operatorTokens,
  revokeToken,
} from '../../../shared/accounts/operator-token.ts';
import { randomBase62 } from '../../../shared/base/ids.ts';
import { collection } from '../../../shared/base/mongo/collection.ts';
import { failOnce } from '../../support/failing-mongo.ts';
import { cookieOf, opsToken, startTestOperators } from '../../support/operators.ts';
import { textOf } from '../../support/pages.ts';
import { useStarted } from '../../support/use-started.ts';

describe('personal tokens of operators', () => {
  const forget = () => LimitModel.deleteMany({ _id: /^operator-token:/ });

  for (const [auth, OPS_TOKEN] of [
    ['shared', opsToken],
    ['personal', ''],
  ] as const) {
    describe(`with OPS_AUTH=${auth}`, () => {
      const operators = useStarted(() => startTestOperators({ OPS_AUTH: auth, OPS_TOKEN }));
      beforeEach(forget);
      const newToken = () => createToken(`anna ${randomBase62(6)}`, operators.ctx.now());

      it('a personal token, pasted with invisible characters, is exchanged for a cookie, which opens the queue board until the token is revoked', async () => {
        const { tokenId, token } = await newToken();
        const answer = await operators.signIn(` ${token}\u200b\n`);
        expect([answer.status, answer.headers.get('location')]).to.deep.equal([303, '/ops/queues']);
        const cookie = cookieOf(answer);
        expect(cookie).not.to.include(token);
        expect((await operators.ask('/ops/queues', { headers: { cookie } })).status).to.equal(200);
        const [name, value = ''] = cookie.split('=');
        const other = (await newToken()).tokenId;
        const forged = [value.replace(tokenId, other), value.replace(`.${tokenId}`, ''), value.replace(/^\d/, '9')];
        for (const one of forged) {
          const { status } = await operators.ask('/ops/queues', { headers: { cookie: `${name}=${one}` } });
          expect(status, one).to.equal(404);
        }
        await revokeToken(tokenId, operators.ctx.now());
        const later = operatorTokens(() => operators.ctx.now() + 31_000);
        expect(await later.withId(tokenId)).to.equal(null);
      });

      it('a wrong token that a client repeats counts once, so it locks out nobody at the same address', async () => {
        const { token } = await newToken();
        for (let tries = 0; tries < 12; tries++) expect((await operators.signIn('ops_revoked')).status).to.equal(403);
        expect((await operators.signIn(token)).status).to.equal(303);
      });

      it('the stored hash of a token is not enough to make a cookie', async () => {
        const { tokenId, token } = await newToken();
        const [name] = cookieOf(await operators.signIn(token)).split('=');
        const { hash = '' } = (await OperatorTokenModel.findById(tokenId).lean()) ?? {};
        const until = String(operators.ctx.now() + 3_600_000);
        const proof = createHmac('sha256', hash).update(`operators’ cookie ${until}`).digest('base64url');
        const cookie = `${name}=${until}.${proof}.${tokenId}`;
        expect((await operators.ask('/ops/queues', { headers: { cookie } })).status).to.equal(404);
      });

      it("the owner's sign-in is recorded", async () => {
        const { ctx } = operators;
        const owner = `anna ${randomBase62(8)}`;
        await operators.signIn((await createToken(owner, ctx.now())).token);
        const entry = await AuditModel.findOne({ by: owner }).lean();
        expect(entry).to.include({ action: 'operator_signed_in', from: '127.0.0.1' });
      });

      it('after 10 wrong tokens within 15 minutes, wrong ones get 429, and valid ones are still accepted', async () => {
        const { token } = await newToken();
        const wrong: number[] = [];
        for (let tries = 0; tries < 12; tries++) wrong.push((await operators.signIn(`ops_wrong${tries}`)).status);
        expect(wrong).to.deep.equal([...Array(10).fill(403), 429, 429]);
        const refused = await operators.signIn('ops_wrong_again');
        expect(refused.status).to.equal(429);
        expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 900);
        expect(textOf(await refused.text())).to.include('Too many wrong tokens: try again in 15 min');
        for (const valid of [token, OPS_TOKEN].filter(Boolean)) {
          expect((await operators.signIn(valid)).status).to.equal(303);
        }
      });
    });
  }

  describe('and the metrics', () => {
    const operators = useStarted(() => startTestOperators({ OPS_AUTH: 'personal', OPS_TOKEN: opsToken }));
    beforeEach(forget);
    const scrape = (token?: string) =>
      operators.ask('/metrics', token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });

    it('/metrics needs a personal token if OPS_AUTH is personal, and the health checks need none', async () => {
      const { token } = await createToken('prometheus', operators.ctx.now());
      const answer = await scrape(token);
      expect(answer.status).to.equal(200);
      expect(await answer.text()).to.include('process_cpu_seconds_total');
      for (const wrong of [undefined, '', 'ops_wrong', opsToken]) {
        const refused = await scrape(wrong);
        expect([refused.status, refused.headers.get('www-authenticate')], wrong).to.deep.equal([401, 'Bearer']);
      }
      expect((await operators.ask('/healthz')).status).to.equal(200);
    });

    it('OPS_TOKEN does not open the queue board if OPS_AUTH is personal', async () => {
      expect((await operators.signIn(opsToken)).status).to.equal(403);
    });

    it('a client with too many wrong tokens gets 429 from /metrics', async () => {
      for (let tries = 0; tries < 10; tries++) expect((await scrape(`ops_wrong${tries}`)).status).to.equal(401);
      expect((await scrape('ops_wrong')).status).to.equal(429);
      const { token } = await createToken('prometheus', operators.ctx.now());
      expect((await scrape(token)).status).to.equal(200);
    });
  });

  it('a token that a process knows stays valid while MongoDB is unavailable', async () => {
    const operators = await startTestOperators({ OPS_AUTH: 'personal' });
    try {
      let nowMs = operators.ctx.now();
      const tokens = operatorTokens(() => nowMs);
      const check = (token: string) => tokens.check(token, 'client', () => false);
      const [known, other] = [await createToken('anna', nowMs), await createToken('ben', nowMs)];
      expect(await check(known.token)).to.include({ owner: 'anna' });
      nowMs += 60_000;
      const stored = collection(OperatorTokenModel);
      failOnce(stored, 'findOneAndUpdate', new mongoose.mongo.MongoNetworkError('connection closed'));
      expect(await check(known.token)).to.include({ owner: 'anna' });
      failOnce(stored, 'findOneAndUpdate', new mongoose.mongo.MongoNetworkError('connection closed'));
      expect(await check(other.token).catch(({ name }) => name)).to.equal('MongoNetworkError');
      await revokeToken(known.tokenId, nowMs);
      nowMs += 60_000;
      expect(await check(known.token)).to.equal('wrong');
    } finally {
      await operators.close();
    }
  });
});
