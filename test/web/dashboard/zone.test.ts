import { expect } from 'chai';
import { zoneAt, zoneOf } from '../../../shared/base/place-zone.ts';
import { clockChangeAt, offsetMs, startOfDay, timeOfClock, zoneName } from '../../../web/kit/zone.ts';

describe('time zones', () => {
  it('a name that is not a time zone stands for UTC', () => {
    expect(['America/New_York', 'Asia/Kolkata', '', 'Nowhere/At_All', '<script>'].map(zoneOf)).to.deep.equal([
      ...['America/New_York', 'Asia/Calcutta', 'UTC', 'UTC', 'UTC'],
    ]);
  });

  for (const [clock, zone, utc] of [
    ['2026-07-01T08:30:15', 'UTC', '2026-07-01T08:30:15'],
    ['2026-07-01T08:30:15', 'Asia/Kolkata', '2026-07-01T03:00:15'],
    ['2026-07-01T00:00:00', 'America/New_York', '2026-07-01T04:00:00'],
    ['2026-01-01T00:00:00', 'America/New_York', '2026-01-01T05:00:00'],
    ['2026-01-01T00:00:00', 'Pacific/Kiritimati', '2025-12-31T10:00:00'],
    // Clocks go from 2:00 to 3:00 on 8 March, and from 2:00 back to 1:00 on 1 November.
    ['2026-03-08T01:59:59', 'America/New_York', '2026-03-08T06:59:59'],
    ['2026-03-08T02:30:00', 'America/New_York', '2026-03-08T07:30:00'],
    ['2026-03-08T03:00:00', 'America/New_York', '2026-03-08T07:00:00'],
    ['2026-11-01T00:30:00', 'America/New_York', '2026-11-01T04:30:00'],
    ['2026-11-01T01:30:00', 'America/New_York', '2026-11-01T05:30:00'],
    ['2026-11-01T02:30:00', 'America/New_York', '2026-11-01T07:30:00'],
    ['2026-03-29T02:30:00', 'Europe/Berlin', '2026-03-29T01:30:00'],
    ['2026-03-29T03:30:00', 'Europe/Berlin', '2026-03-29T01:30:00'],
    ['2026-03-29T12:00:00', 'Europe/Berlin', '2026-03-29T10:00:00'],
    ['2026-10-25T02:30:00', 'Europe/Berlin', '2026-10-25T00:30:00'],
    ['2026-10-25T03:00:00', 'Europe/Berlin', '2026-10-25T02:00:00'],
    // A change of half an hour.
    ['2026-04-05T01:45:00', 'Australia/Lord_Howe', '2026-04-04T14:45:00'],
  ] as const) {
    it(`clocks in ${zone} show ${clock} at ${utc} UTC`, () => {
      expect(timeOfClock(new Date(`${clock}Z`), zone)).to.deep.equal(new Date(`${utc}Z`));
    });
  }

  for (const [clock, zone, change] of [
    ['2026-10-25T01:59', 'Europe/Berlin', undefined],
    ['2026-10-25T02:00', 'Europe/Berlin', 'repeated'],
    ['2026-10-25T03:00', 'Europe/Berlin', undefined],
    ['2026-11-01T01:30', 'America/New_York', 'repeated'],
    ['2026-03-08T01:59', 'America/New_York', undefined],
    ['2026-03-08T02:00', 'America/New_York', 'skipped'],
    ['2026-03-08T03:00', 'America/New_York', undefined],
    ['2026-10-25T02:30', 'UTC', undefined],
  ] as const) {
    it(`clocks in ${zone} show ${clock} ${change ? `as a ${change} time` : 'once'}`, () => {
      expect(clockChangeAt(new Date(`${clock}Z`), zone)).to.equal(change);
    });
  }

  it('the clocks of a zone have a name and an offset, which change with the season', () => {
    const [winter, summer] = [new Date('2026-01-01'), new Date('2026-07-01')];
    expect([winter, summer].map((at) => zoneName(at, 'America/New_York'))).to.deep.equal([
      ...['Eastern Standard Time', 'Eastern Daylight Time'],
    ]);
    expect([winter, summer].map((at) => offsetMs(at, 'America/New_York') / 3_600_000)).to.deep.equal([-5, -4]);
  });

  it('a place is in its time zone', () => {
    expect(zoneAt({ lat: 52.52, lng: 13.405 })).to.equal('Europe/Berlin');
    expect(zoneAt({ lat: 40.7128, lng: -74.006 })).to.equal('America/New_York');
  });

  it('a day starts at midnight of its zone', () => {
    expect(startOfDay(new Date('2026-11-02'), 'America/New_York')).to.deep.equal(new Date('2026-11-02T05:00Z'));
  });
});
