import { expect } from 'chai';
import { centsOf } from '../../../shared/base/cents.ts';
import {
  dayOfMonth,
  daysBetween,
  endOfMonth,
  isMonth,
  monthOf,
  previousMonth,
  startOfDay,
  startOfMonth,
  summableUntil,
} from '../../../shared/usage/days.ts';

const at = (text: string): Date => new Date(`${text.replace(' ', 'T')}Z`);

describe('days and months of usage', () => {
  for (const [now, until] of [
    ['2026-11-06 00:59:59.999', '2026-11-05'],
    ['2026-11-06 01:00', '2026-11-06'],
    ['2026-11-06 23:59:59.999', '2026-11-06'],
    ['2027-01-01 00:30', '2026-12-31'],
    ['2027-01-01 01:00', '2027-01-01'],
  ] as const) {
    it(`at ${now}, the days before ${until} can be summed: an hour after the end of a day`, () => {
      expect(summableUntil(at(now).getTime())).to.deep.equal(at(`${until} 00:00`));
    });
  }

  it('the end of a month is correct, also in leap years and at the end of a year', () => {
    expect(endOfMonth('2026-12')).to.deep.equal(at('2027-01-01 00:00'));
    expect(endOfMonth('2028-02')).to.deep.equal(at('2028-03-01 00:00'));
    expect(startOfMonth('2027-01')).to.deep.equal(at('2027-01-01 00:00'));
    expect(startOfDay(at('2026-11-06 23:59:59.999').getTime())).to.equal(at('2026-11-06 00:00').getTime());
    expect(dayOfMonth(at('2026-11-05 23:00'))).to.equal('05');
    expect(daysBetween(at('2026-11-06 00:00'), at('2026-11-05 00:00'))).to.deep.equal([]);
    expect(previousMonth('2027-01')).to.equal('2026-12');
    expect(monthOf(at('2026-12-31 23:59:59.999'))).to.equal('2026-12');
    expect(daysBetween(at('2028-02-28 00:00'), at('2028-03-02 00:00'))).to.deep.equal([
      '2028-02-28',
      '2028-02-29',
      '2028-03-01',
    ]);
  });

  it('months that do not exist or are malformed are rejected', () => {
    expect(
      [
        ...['2026-11', '2026-01', '2026-12', '2026-00', '2026-13', '2026-1', '26-11', '2026-11-05', '', 'x2026-11'],
        ...['2126-11', '2026-20', '2026-19'],
      ].filter(isMonth),
    ).to.deep.equal([...['2026-11', '2026-01', '2026-12']]);
  });
});

describe('centsOf', () => {
  for (const [usd, cents] of [
    [0.01, 1],
    [0.1 + 0.2, 30],
    [1.005, 101],
    [4.35, 435],
    [24.5, 2_450],
    [1_234_567.89, 123_456_789],
  ] as const) {
    it(`centsOf rounds ${usd} USD to ${cents} cents`, () => {
      expect(centsOf(usd)).to.equal(cents);
    });
  }
});
