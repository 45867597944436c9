import { testProcedures } from './host/procedures.ts';

describe('the procedures of docs/operations.md with Docker Compose', function () {
  this.timeout(300_000);
  testProcedures('compose');
});
