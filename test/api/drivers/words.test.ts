import { expect } from 'chai';
import { callAddress, kindOf, notesOf } from '../../../api/drive/words.ts';

describe("the tel: URL of a passenger on the driver's page", () => {
  const numbers: [text: string, address: string | undefined][] = [
    ['+1 (202) 555-0143', 'tel:+12025550143'],
    ['(+49) 30 1234', 'tel:+49301234'],
    ['0044 20 7946 0958', 'tel:00442079460958'],
    ['*21*+12025550143#', 'tel:2112025550143'],
    ['*#06#', 'tel:06'],
    ['+1202555,,99#', 'tel:+120255599'],
    ['+12025550143;phone-context=evil.example', 'tel:+12025550143'],
    ['1+2', 'tel:12'],
    ['\n+1\n2', 'tel:+12'],
    ['front desk', undefined],
    ['+', undefined],
    ['', undefined],
  ];
  for (const [text, address] of numbers) {
    it(`the tel: URL keeps only digits and a leading + of ${JSON.stringify(text)}`, () => {
      expect(callAddress(text)).to.equal(address);
    });
  }
});

describe("the needs of a ride on the driver's page", () => {
  it('a request shows its kind of car, and its needs if it has any', () => {
    const wish = { carType: 'comfort', rideType: 'intercity' } as const;
    expect(kindOf(wish)).to.equal('Comfort car, between cities');
    expect(kindOf({ ...wish, needs: ['child_seat', 'pet'] })).to.equal(
      'Comfort car, between cities, needs: child seat, pet',
    );
  });

  it("the driver's ride shows its needs before the notes, and nothing without either", () => {
    expect(notesOf({})).to.equal('');
    expect(notesOf({ notes: 'needs a hand' })).to.equal('needs a hand');
    expect(notesOf({ needs: ['wheelchair'] })).to.equal('Needs: wheelchair');
    expect(notesOf({ needs: ['pet'], notes: 'Two cats' })).to.equal('Needs: pet. Two cats');
  });
});
