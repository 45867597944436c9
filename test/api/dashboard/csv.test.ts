import { expect } from 'chai';
import { csvRow, statementCsv } from '../../../api/dashboard/usage/statement-csv.ts';

describe('a CSV row', () => {
  it('a CSV row contains its cells in order and ends with CRLF', () => {
    expect(csvRow(['ride_1', '12.50', ''])).to.equal('ride_1,12.50,\r\n');
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
  ] as const) {
    it(`the cell ${JSON.stringify(text)} is quoted as RFC 4180 requires`, () => {
      expect(csvRow([text])).to.equal(`${cell}\r\n`);
    });
  }

  for (const [text, cell] of [
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠SUM(A1)', "'＠SUM(A1)"],
    ['\t=1', `"'\t'=1"`],
    ['\r=1', `"'\r'=1"`],
    ['\ta', `"'\ta"`],
    ['Desk;=1+1', `"Desk;'=1+1"`],
    ['Desk;;＝1;-2', `"Desk;;'＝1;'-2"`],
    ['Desk;"=1', `"Desk;""'=1"`],
    ['Desk\t@a', `"Desk\t'@a"`],
    ['Desk\r\n+1', `"Desk\r\n'+1"`],
    ['=HYPERLINK("https://evil.example","x")', `"'=HYPERLINK(""https://evil.example"",""x"")"`],
  ] as const) {
    it(`a spreadsheet does not run the cell ${JSON.stringify(text)}`, () => {
      expect(csvRow([text])).to.equal(`${cell}\r\n`);
    });
  }

  it('a cell with a formula sign inside is not changed', () => {
    expect(csvRow(['a=b', '1-2', 'x@y', ' =1', 'a＝b'])).to.equal('a=b,1-2,x@y, =1,a＝b\r\n');
  });
});

describe('a statement as CSV', () => {
  const trip = (rideId: string, cents: number) => ({ rideId, cents, keyId: 'key_1', endedAt: new Date(1_000) });
  const facts = {
    pickup: { lat: 1, lng: 2, address: 'A' },
    destination: { lat: 3, lng: 4, address: 'B' },
    reference: 'R',
  };
  async function csvOf(pages: ReturnType<typeof trip>[][], hasPlaces = true): Promise<string> {
    async function* lines() {
      yield* pages;
    }
    const details = { hasPlaces, keyNames: new Map([['key_1', 'Desk']]), trips: new Map([['ride_1', facts]]) };
    return (await (await statementCsv(lines(), async () => details as never)).toArray()).join('');
  }
  const head = 'Ride ID,Ended (UTC),Key ID,Key name,Agreed price (USD),Reference';

  it('a statement has a row for each trip of all pages, and a last row with the sum', async () => {
    expect(await csvOf([[trip('ride_1', 1_250)], [trip('ride_2', 5), trip('ride_3', 10)]])).to.equal(
      [
        `${head},From,To`,
        'ride_1,1970-01-01T00:00:01.000Z,key_1,Desk,12.50,R,A,B',
        'ride_2,1970-01-01T00:00:01.000Z,key_1,Desk,0.05,,,',
        'ride_3,1970-01-01T00:00:01.000Z,key_1,Desk,0.10,,,',
        'Sum,,,3 trips,12.65,,,',
        '',
      ].join('\r\n'),
    );
  });

  it('a role that sees no places gets no columns for them', async () => {
    expect(await csvOf([[{ ...trip('ride_1', 100), keyId: 'key_2' }]], false)).to.equal(
      `${head}\r\nride_1,1970-01-01T00:00:01.000Z,key_2,,1.00,R\r\nSum,,,1 trip,1.00,\r\n`,
    );
  });

  it('a statement without trips has a head and a sum, and thousands have no comma', async () => {
    expect(await csvOf([])).to.equal(`${head},From,To\r\nSum,,,0 trips,0.00,,,\r\n`);
    const many = Array.from({ length: 1_000 }, () => trip('ride_2', 1));
    expect(await csvOf([many])).to.include('Sum,,,1000 trips,10.00,,,');
  });
});
