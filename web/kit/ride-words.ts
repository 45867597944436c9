/** Words about rides. Pure: browsers use this file too. */

export const ratingText = (rating: number): string => `★ ${rating.toFixed(1)}`;
