import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';

const root = path.resolve(import.meta.dirname, '../..');

/** The folders of shared/, the lowest floor first. Folders on one floor do not import each other. */
const floors = [
  ['base'],
  ['accounts', 'mail', 'targets'],
  ['keys'],
  ['drivers'],
  ['rides'],
  ['webhooks'],
  ['usage'],
  ['fares', 'retention'],
  ['process'],
];

type Imports = ReadonlyMap<string, ReadonlySet<string>>;

/** The files below a folder, each with the files that it imports, including imports of types. */
function importsOfFiles(folder: string): Imports {
  const files = fs.readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' });
  const names = files.filter((file) => /\.tsx?$/.test(file)).map((file) => path.join(folder, file));
  return new Map(names.map((name) => [name, new Set(importsOf(name))]));
}

function importsOf(name: string): string[] {
  const source = fs.readFileSync(path.join(root, name), 'utf8');
  const imports = source.matchAll(/(?:from |import\()'(\.[^']+)'/g);
  return [...imports].map(([, imported = '']) => path.join(name, '..', imported));
}

/** The same for the rooms of a folder: the files in it, and the folders in it as a whole. */
function importsOfRooms(files: Imports, folder: string): Imports {
  const roomOf = (file: string) =>
    file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split('/')[0] : undefined;
  const rooms = new Map<string, Set<string>>();
  for (const [file, imported] of files) {
    for (const [room, other] of [...imported].map((each) => [roomOf(file), roomOf(each)])) {
      if (room && other && room !== other) rooms.set(room, (rooms.get(room) ?? new Set()).add(other));
    }
  }
  return rooms;
}

const inCircles = (imports: Imports): string[] => [...imports.keys()].filter((each) => reach(imports, each).has(each));

function reach(imports: Imports, from: string, reached = new Set<string>()): Set<string> {
  for (const each of imports.get(from) ?? []) if (!reached.has(each)) reach(imports, each, reached.add(each));
  return reached;
}

describe('imports', () => {
  it('in shared/ lead only to lower floors', () => {
    const rooms = importsOfRooms(importsOfFiles('shared'), 'shared');
    const floorOf = (room: string) => floors.findIndex((floor) => floor.includes(room));
    expect(rooms.get('rides')).to.include('base');
    for (const [room, imported] of rooms) {
      expect(floorOf(room), `the floor of ${room}`).to.be.at.least(0);
      for (const other of imported) expect(floorOf(other), `${room} imports ${other}`).to.be.below(floorOf(room));
    }
  });

  for (const top of ['shared', 'workers', 'cli']) {
    it(`form no circle in ${top}/, neither of files nor of folders`, () => {
      const files = importsOfFiles(top);
      expect(inCircles(files)).to.deep.equal([]);
      for (const folder of new Set([...files.keys()].map((file) => path.dirname(file)))) {
        expect(inCircles(importsOfRooms(files, folder)), `in ${folder}`).to.deep.equal([]);
      }
    });
  }
});
