import Joi from 'joi';

export const latitude = Joi.number().min(-90).max(90).required().description('Latitude in degrees.');
export const longitude = Joi.number().min(-180).max(180).required().description('Longitude in degrees.');
