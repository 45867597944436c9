import { expect } from 'chai';
import { drivers } from '../../../cli/drivers/driver-commands.ts';
import { keys } from '../../../cli/keys/key-commands.ts';
import { operatorName } from '../../../cli/operator.ts';
import { ops } from '../../../cli/ops/ops-commands.ts';
import { OperatorTokenModel } from '../../../shared/accounts/operator-token.ts';
import { randomBase62, sha256 } from '../../../shared/base/ids.ts';
import { UsageError } from '../../../shared/process/command-line.ts';
import { type CommandResult, runCommand } from '../../support/command-line.ts';
import { useTestContext } from '../../support/service.ts';

describe('who did what on the command line', () => {
  const ctx = useTestContext();
  const mongo = () => ({ config: ctx.config, nowMs: ctx.now() });

  const run = (program: 'keys' | 'drivers' | 'ops', ...argv: string[]): Promise<CommandResult> => {
    if (program === 'ops') return runCommand(ops, argv, ctx);
    return runCommand(program === 'keys' ? keys : drivers, argv, mongo());
  };
  type Entry = { by?: string; action: string; keyId?: string; about?: string };
  const entriesOf = async (...options: string[]): Promise<Entry[]> => (await run('ops', 'audit', ...options)).answer;

  it('ops audit lists the changes of all three programs, newest first, by operator and by action', async () => {
    const by = `Grace ${randomBase62(8)}`;
    const { keyId } = (await run('keys', 'create', '--name', 'Desk', '--mode', 'test', '--by', by)).answer;
    await run('keys', 'limit', keyId, '--per-minute', '5', '--per-hour', '50', '--by', by);
    const driver = ['--name', 'Dana', '--phone', '+12025550100', '--vehicle', 'Prius', '--plate', 'T 1'];
    const more = ['--car-type', 'regular', '--seats', '4', '--by', by];
    const { driverId } = (await run('drivers', 'create', ...driver, ...more)).answer;
    for (const command of ['rotate', 'suspend', 'resume', 'revoke'])
      await run('drivers', command, driverId, '--by', by);
    await run('ops', 'suspend', 'key', keyId, '--by', by);
    const entries = await entriesOf('--by', by);
    expect(entries.map(({ action, keyId: key, about }) => [action, key ?? about])).to.deep.equal([
      ['key_suspended', keyId],
      ['driver_revoked', driverId],
      ['driver_resumed', driverId],
      ['driver_suspended', driverId],
      ['driver_key_rotated', driverId],
      ['driver_created', driverId],
      ['limit_changed', keyId],
      ['key_created', keyId],
    ]);
    expect(await entriesOf('--by', by, '--action', 'limit_changed')).to.have.length(1);
    expect(await entriesOf('--by', by, '--since', '2999-01-01T00:00Z')).to.deep.equal([]);
    const all = await entriesOf('--action', 'driver_created');
    expect(all.map(({ about }) => about)).to.include(driverId);
    expect(JSON.stringify(entries)).not.to.include('Dana').and.not.include('+1202555');
  });

  it('a command that failed, or that changed nothing, is not recorded', async () => {
    const by = `Grace ${randomBase62(8)}`;
    expect((await run('keys', 'revoke', 'key_unknown', '--by', by)).code).to.equal(1);
    expect((await run('drivers', 'suspend', 'driver_unknown', '--by', by)).code).to.equal(1);
    expect((await run('keys', 'list', '--by', by)).code).to.equal(0);
    expect(await entriesOf('--by', by)).to.deep.equal([]);
  });

  it('a token is shown once, stored as a hash, listed with its owner, and revoked once', async () => {
    const owner = `anna ${randomBase62(8)}`;
    const { tokenId, token } = (await run('ops', 'tokens', 'create', '--owner', owner, '--by', 'Grace')).answer;
    expect(token).to.match(/^ops_\w{32}$/);
    expect(await OperatorTokenModel.findById(tokenId).lean()).to.include({ hash: sha256(token), owner });
    const { text } = await run('ops', 'tokens', 'list');
    expect(text).to.include(tokenId).and.include(owner).and.not.include(token).and.not.include(sha256(token));
    expect((await run('ops', 'tokens', 'revoke', tokenId, '--by', 'Grace')).code).to.equal(0);
    expect((await run('ops', 'tokens', 'revoke', tokenId, '--by', 'Grace')).code).to.equal(1);
    const about = `${tokenId} of ${owner}`;
    const entries = (await entriesOf('--by', 'Grace')).filter((entry) => entry.about === about);
    expect(entries.map(({ action }) => action)).to.deep.equal(['token_revoked', 'token_created']);
    expect(JSON.stringify(entries)).not.to.include(token);
  });

  describe('the name of the operator', () => {
    const production = { environment: 'production' } as const;
    const root = { name: 'root', isShared: true };
    const anna = { name: 'anna', isShared: false };

    it('the option --by comes first, then the system user', () => {
      expect(operatorName(production, ' Grace ', 'by name', root)).to.equal('Grace');
      expect(operatorName(production, undefined, 'by name', anna)).to.equal('anna');
    });

    it('in production, a change by a shared user needs --by; reading, sweeping and re-encrypting do not', () => {
      expect(() => operatorName(production, undefined, 'by name', root)).to.throw(UsageError, '--by NAME is missing');
      expect(operatorName(production, undefined, 'if known', root)).to.equal('');
      expect(operatorName(production, undefined, 'never', root)).to.equal('');
      expect(operatorName({ environment: 'development' }, undefined, 'by name', root)).to.equal('root');
    });

    it('a name has 1 to 100 characters without control characters', () => {
      for (const name of ['', ' ', 'x'.repeat(101), 'a\u001b[31m']) {
        expect(() => operatorName(production, name, 'by name', anna)).to.throw(UsageError);
      }
    });
  });
});
