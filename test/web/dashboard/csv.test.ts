import { expect } from 'chai';
import { type CsvForm, guarded, statementCsv } from '../../../shared/usage/statement-csv.ts';

describe('the texts of a CSV file for spreadsheets', () => {
  for (const [text, cell] of [
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠SUM(A1)', "'＠SUM(A1)"],
    ['\t=1', "'\t'=1"],
    ['\r=1', "'\r'=1"],
    ['\ta', "'\ta"],
    ['Desk;=1+1', "Desk;'=1+1"],
    ['Desk;;＝1;-2', "Desk;;'＝1;'-2"],
    ['Desk;"=1', `Desk;"'=1`],
    ['Desk\t@a', "Desk\t'@a"],
    ['Desk\r\n+1', "Desk\r\n'+1"],
  ] as const) {
    it(`a spreadsheet does not run the text ${JSON.stringify(text)}`, () => {
      expect(guarded(text)).to.equal(cell);
    });
  }

  const changed = [
    ...['00123', '1.50', '3-4', '7/11', '1E5', '12345678901234567890', '10:30', '5 pm', '50 %', '$5', '1 2/3'],
  ];
  for (const text of [...changed, 'MAR1', '1-Sept', 'May 2026', 'TRUE', ' 00123 ', '5$', '.5', '1,234', '2026-11-26']) {
    it(`a spreadsheet does not change the text ${JSON.stringify(text)}`, () => {
      expect(guarded(text)).to.equal(`'${text}`);
    });
  }

  it('a text that a spreadsheet shows as it is has no apostrophe', () => {
    for (const text of [
      ...['', 'a=b', 'x@y', ' =1', 'a＝b', '7', '20332', 'RES-20332', 'Room 12', '40.758, -73.9855', '1st'],
    ])
      expect(guarded(text)).to.equal(text);
  });
});

type CsvOptions = { hasPlaces?: boolean; name?: string; form?: CsvForm };

describe('a statement as CSV', () => {
  const trip = (rideId: string, cents: number) => ({ rideId, cents, keyId: 'key_1', endedAt: new Date(1_000) });
  const facts = {
    pickup: { lat: 1, lng: 2, address: 'A' },
    destination: { lat: 3, lng: 4, address: 'B' },
    reference: '007',
  };
  async function csvOf(pages: ReturnType<typeof trip>[][], { hasPlaces = true, name = 'Desk', form }: CsvOptions = {}) {
    async function* lines() {
      yield* pages;
    }
    const details = { hasPlaces, keyNames: new Map([['key_1', name]]), trips: new Map([['ride_1', facts]]) };
    return (await (await statementCsv(lines(), async () => details as never, form)).toArray()).join('');
  }
  const head = 'Ride ID,Ended (UTC),Key ID,Key name,Agreed price (USD),Reference';

  it('a statement has a row for each trip of all pages, after a byte order mark', async () => {
    expect(await csvOf([[trip('ride_1', 1_250)], [trip('ride_2', 5), trip('ride_3', 10)]])).to.equal(
      [
        `\ufeff${head},From,To`,
        "ride_1,1970-01-01T00:00:01.000Z,key_1,Desk,12.50,'007,A,B",
        'ride_2,1970-01-01T00:00:01.000Z,key_1,Desk,0.05,,,',
        'ride_3,1970-01-01T00:00:01.000Z,key_1,Desk,0.10,,,',
        '',
      ].join('\r\n'),
    );
  });

  it('a statement for programs has neither a byte order mark nor apostrophes', async () => {
    const csv = await csvOf([[trip('ride_1', 1_250)]], { form: 'plain', name: '=1+1' });
    expect(csv).to.equal(`${head},From,To\r\nride_1,1970-01-01T00:00:01.000Z,key_1,=1+1,12.50,007,A,B\r\n`);
  });

  it('a role that sees no places gets no columns for them', async () => {
    expect(await csvOf([[{ ...trip('ride_1', 100), keyId: 'key_2' }]], { hasPlaces: false })).to.equal(
      `\ufeff${head}\r\nride_1,1970-01-01T00:00:01.000Z,key_2,,1.00,'007\r\n`,
    );
  });

  for (const [text, cell] of [
    ['Desk, lobby', '"Desk, lobby"'],
    ['The "blue" desk', '"The ""blue"" desk"'],
    ['two\nlines', '"two\nlines"'],
    ['two\r\nlines', '"two\r\nlines"'],
    ['Empfang Süd 🛎', 'Empfang Süd 🛎'],
    ["it's", "it's"],
    ['Desk; lobby', '"Desk; lobby"'],
    ['Desk\tlobby', '"Desk\tlobby"'],
    ['=HYPERLINK("https://evil.example","x")', `"'=HYPERLINK(""https://evil.example"",""x"")"`],
  ] as const) {
    it(`the cell ${JSON.stringify(text)} is quoted as RFC 4180 requires`, async () => {
      expect(await csvOf([[trip('ride_2', 100)]], { name: text })).to.include(`,key_1,${cell},1.00,`);
    });
  }
});
