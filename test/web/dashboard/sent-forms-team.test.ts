import { testSentForms } from './sent-forms.ts';

describe('a repeated form of a team', () => testSentForms('team'));
