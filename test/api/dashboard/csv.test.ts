import { expect } from 'chai';
import { csvRow } from '../../../api/dashboard/usage/statement-csv.ts';

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
