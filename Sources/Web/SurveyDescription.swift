/// What surveyors' apps may ask, as OpenAPI 3.1; served at `/v1/surveys/openapi.json`. A test asks by it.
enum SurveyDescription {
    static let json = #"""
        {
          "openapi": "3.1.0",
          "info": {
            "title": "Drover: surveys",
            "version": "1",
            "description": "What surveyors' apps hand in and get back. docs/survey-apps.md has the whole story."
          },
          "servers": [{"url": "/"}],
          "security": [{"token": []}],
          "paths": {
            "/v1/surveys": {
              "post": {
                "operationId": "submitSurvey",
                "summary": "Hand in a survey: all or nothing, once for each site and id.",
                "requestBody": {
                  "required": true,
                  "content": {
                    "application/json": {
                      "schema": {"$ref": "#/components/schemas/Survey"},
                      "example": {
                        "schema": 1, "survey": "b8d2-1", "site": "watamu-transect-1",
                        "start": "2020-05-01T13:00:00+03:00", "stop": "2020-05-01T13:33:00+03:00",
                        "sightings": [{"species": "Papilio demodocus", "count": 1}]
                      }
                    },
                    "text/csv": {
                      "schema": {
                        "type": "string"
                      }
                    }
                  }
                },
                "responses": {
                  "201": {
                    "description": "Stored.",
                    "content": {
                      "application/json": {
                        "schema": {
                          "$ref": "#/components/schemas/Receipt"
                        }
                      }
                    }
                  },
                  "200": {
                    "description": "The same was stored before.",
                    "content": {
                      "application/json": {
                        "schema": {
                          "$ref": "#/components/schemas/Receipt"
                        }
                      }
                    }
                  },
                  "400": {
                    "$ref": "#/components/responses/Refused"
                  },
                  "409": {
                    "$ref": "#/components/responses/Refused"
                  },
                  "413": {
                    "$ref": "#/components/responses/Refused"
                  },
                  "415": {
                    "$ref": "#/components/responses/Refused"
                  },
                  "422": {
                    "$ref": "#/components/responses/Refused"
                  },
                  "401": {
                    "$ref": "#/components/responses/Token"
                  },
                  "403": {
                    "$ref": "#/components/responses/Token"
                  },
                  "503": {
                    "$ref": "#/components/responses/Later"
                  }
                }
              }
            },
            "/v1/surveys/receipts/{site}/{survey}": {
              "get": {
                "operationId": "showReceipt",
                "summary": "What became of a survey of one's own.",
                "parameters": [
                  {
                    "name": "site",
                    "in": "path",
                    "required": true,
                    "schema": {
                      "$ref": "#/components/schemas/Id"
                    }
                  },
                  {
                    "name": "survey",
                    "in": "path",
                    "required": true,
                    "schema": {
                      "$ref": "#/components/schemas/Id"
                    }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "Its receipt and state.",
                    "content": {
                      "application/json": {
                        "schema": {
                          "$ref": "#/components/schemas/State"
                        }
                      }
                    }
                  },
                  "400": {
                    "$ref": "#/components/responses/Refused"
                  },
                  "404": {
                    "$ref": "#/components/responses/Refused"
                  },
                  "401": {
                    "$ref": "#/components/responses/Token"
                  },
                  "403": {
                    "$ref": "#/components/responses/Token"
                  },
                  "503": {
                    "$ref": "#/components/responses/Later"
                  }
                }
              }
            },
            "/v1/species-list": {
              "get": {
                "operationId": "listSpecies",
                "summary": "Names of species seen near a place in a month.",
                "parameters": [
                  {
                    "name": "lat",
                    "in": "query",
                    "required": true,
                    "schema": {
                      "type": "number",
                      "minimum": -90,
                      "maximum": 90
                    }
                  },
                  {
                    "name": "lon",
                    "in": "query",
                    "required": true,
                    "schema": {
                      "type": "number",
                      "minimum": -180,
                      "maximum": 180
                    }
                  },
                  {
                    "name": "month",
                    "in": "query",
                    "required": true,
                    "schema": {
                      "type": "integer",
                      "minimum": 1,
                      "maximum": 12
                    }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "The names.",
                    "content": {
                      "application/json": {
                        "schema": {
                          "type": "object",
                          "required": [
                            "species"
                          ],
                          "properties": {
                            "species": {
                              "type": "array",
                              "items": {
                                "type": "string"
                              }
                            }
                          }
                        }
                      }
                    }
                  },
                  "400": {
                    "$ref": "#/components/responses/Refused"
                  },
                  "401": {
                    "$ref": "#/components/responses/Token"
                  },
                  "403": {
                    "$ref": "#/components/responses/Token"
                  },
                  "503": {
                    "$ref": "#/components/responses/Later"
                  }
                }
              }
            },
            "/v1/survey-photos": {
              "post": {
                "operationId": "submitPhoto",
                "summary": "Hand in a photo; a sighting names it by its digest. Where it was taken is not kept.",
                "requestBody": {
                  "required": true,
                  "content": {
                    "image/jpeg": {
                      "schema": {
                        "type": "string",
                        "contentMediaType": "image/jpeg"
                      }
                    },
                    "image/png": {
                      "schema": {
                        "type": "string",
                        "contentMediaType": "image/png"
                      }
                    },
                    "image/webp": {
                      "schema": {
                        "type": "string",
                        "contentMediaType": "image/webp"
                      }
                    }
                  }
                },
                "responses": {
                  "201": {
                    "description": "Kept.",
                    "content": {
                      "application/json": {
                        "schema": {
                          "type": "object",
                          "required": [
                            "photo",
                            "media_type",
                            "bytes"
                          ],
                          "properties": {
                            "photo": {
                              "type": "string",
                              "pattern": "^[0-9a-f]{64}$"
                            },
                            "media_type": {
                              "type": "string"
                            },
                            "bytes": {
                              "type": "integer"
                            }
                          }
                        }
                      }
                    }
                  },
                  "400": {
                    "$ref": "#/components/responses/Refused"
                  },
                  "413": {
                    "$ref": "#/components/responses/Refused"
                  },
                  "415": {
                    "$ref": "#/components/responses/Refused"
                  },
                  "429": {
                    "$ref": "#/components/responses/Refused"
                  },
                  "401": {
                    "$ref": "#/components/responses/Token"
                  },
                  "403": {
                    "$ref": "#/components/responses/Token"
                  },
                  "503": {
                    "$ref": "#/components/responses/Later"
                  }
                }
              }
            },
            "/v1/xmlrpc": {
              "post": {
                "operationId": "call",
                "summary": "XML-RPC: system.connect, user.login, node.save, node.create, drover.submitSurvey.",
                "security": [],
                "requestBody": {
                  "required": true,
                  "content": {
                    "text/xml": {
                      "schema": {
                        "type": "string"
                      }
                    }
                  }
                },
                "responses": {
                  "200": {
                    "description": "A methodResponse: a value or a fault.",
                    "content": {
                      "text/xml": {
                        "schema": {
                          "type": "string"
                        }
                      }
                    }
                  },
                  "400": {
                    "$ref": "#/components/responses/Refused"
                  },
                  "413": {
                    "$ref": "#/components/responses/Refused"
                  },
                  "415": {
                    "$ref": "#/components/responses/Refused"
                  },
                  "503": {
                    "$ref": "#/components/responses/Later"
                  }
                }
              }
            },
            "/v1/surveys/openapi.json": {
              "get": {
                "operationId": "describe",
                "summary": "This description.",
                "security": [],
                "responses": {
                  "200": {
                    "description": "This description.",
                    "content": {
                      "application/json": {
                        "schema": {
                          "type": "object"
                        }
                      }
                    }
                  }
                }
              }
            }
          },
          "components": {
            "securitySchemes": {
              "token": {
                "type": "http",
                "scheme": "bearer",
                "description": "A token with the scope survey."
              }
            },
            "responses": {
              "Refused": {
                "description": "Refused; nothing was taken.",
                "content": {
                  "application/problem+json": {
                    "schema": {
                      "$ref": "#/components/schemas/Problem"
                    }
                  }
                }
              },
              "Token": {
                "description": "The token is missing, does not hold, or does not open this.",
                "content": {
                  "application/problem+json": {
                    "schema": {
                      "$ref": "#/components/schemas/Problem"
                    }
                  }
                }
              },
              "Later": {
                "description": "Try again after Retry-After, with the same ids.",
                "content": {
                  "application/problem+json": {
                    "schema": {
                      "$ref": "#/components/schemas/Problem"
                    }
                  }
                }
              }
            },
            "schemas": {
              "Id": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
              "Time": {
                "type": "string",
                "pattern": "^(1[7-9]|20)\\d\\d(-\\d\\d){2}[T ]\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)$",
                "examples": ["2020-05-01T13:00:00+03:00"]
              },
              "Text": {"type": ["string", "null"], "maxLength": 200},
              "Comment": {"type": ["string", "null"], "maxLength": 4000},
              "Weather": {
                "type": ["object", "null"],
                "properties": {
                  "temperature_c": {
                    "type": [
                      "number",
                      "null"
                    ],
                    "minimum": -95,
                    "maximum": 60
                  },
                  "wind_speed_mps": {
                    "type": [
                      "number",
                      "null"
                    ],
                    "minimum": 0,
                    "maximum": 115
                  },
                  "wind_beaufort": {
                    "type": [
                      "integer",
                      "null"
                    ],
                    "minimum": 0,
                    "maximum": 12
                  },
                  "wind_direction_deg": {
                    "type": [
                      "number",
                      "null"
                    ],
                    "minimum": 0,
                    "maximum": 360
                  },
                  "cloud_cover_pct": {
                    "type": [
                      "number",
                      "null"
                    ],
                    "minimum": 0,
                    "maximum": 100
                  },
                  "sun_pct": {
                    "type": [
                      "number",
                      "null"
                    ],
                    "minimum": 0,
                    "maximum": 100
                  },
                  "rain": {
                    "type": [
                      "boolean",
                      "null"
                    ]
                  }
                }
              },
              "Sighting": {
                "type": "object",
                "required": ["species", "count"],
                "dependentRequired": {
                  "latitude": ["longitude"],
                  "longitude": ["latitude"]
                },
                "properties": {
                  "species": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 200
                  },
                  "count": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 1000000
                  },
                  "time": {
                    "oneOf": [
                      {
                        "$ref": "#/components/schemas/Time"
                      },
                      {
                        "type": "null"
                      }
                    ]
                  },
                  "latitude": {
                    "type": [
                      "number",
                      "null"
                    ],
                    "minimum": -90,
                    "maximum": 90
                  },
                  "longitude": {
                    "type": [
                      "number",
                      "null"
                    ],
                    "minimum": -180,
                    "maximum": 180
                  },
                  "uncertainty_m": {
                    "type": [
                      "integer",
                      "null"
                    ],
                    "minimum": 1,
                    "maximum": 10000000
                  },
                  "section": {
                    "$ref": "#/components/schemas/Text"
                  },
                  "habitat": {
                    "$ref": "#/components/schemas/Text"
                  },
                  "conditions": {
                    "$ref": "#/components/schemas/Comment"
                  },
                  "behaviour": {
                    "$ref": "#/components/schemas/Text"
                  },
                  "certainty": {
                    "enum": [
                      "certain",
                      "probable",
                      "uncertain",
                      null
                    ]
                  },
                  "life_stage": {
                    "$ref": "#/components/schemas/Text"
                  },
                  "sex": {
                    "$ref": "#/components/schemas/Text"
                  },
                  "mark": {
                    "$ref": "#/components/schemas/Text"
                  },
                  "light_lux": {
                    "type": [
                      "integer",
                      "null"
                    ],
                    "minimum": 0,
                    "maximum": 1000000
                  },
                  "photos": {
                    "type": [
                      "array",
                      "null"
                    ],
                    "items": {
                      "type": "string",
                      "minLength": 1,
                      "maxLength": 200
                    },
                    "maxItems": 20
                  },
                  "animals": {
                    "$ref": "#/components/schemas/Comment"
                  },
                  "plants": {
                    "$ref": "#/components/schemas/Comment"
                  },
                  "comments": {
                    "$ref": "#/components/schemas/Comment"
                  },
                  "weather": {
                    "$ref": "#/components/schemas/Weather"
                  }
                }
              },
              "Survey": {
                "type": "object",
                "required": [
                  "schema",
                  "survey",
                  "site",
                  "start",
                  "stop",
                  "sightings"
                ],
                "properties": {
                  "schema": {"const": 1},
                  "survey": {
                    "$ref": "#/components/schemas/Id"
                  },
                  "site": {
                    "$ref": "#/components/schemas/Id"
                  },
                  "site_name": {
                    "$ref": "#/components/schemas/Text"
                  },
                  "route": {
                    "$ref": "#/components/schemas/Text"
                  },
                  "start": {
                    "$ref": "#/components/schemas/Time"
                  },
                  "stop": {
                    "$ref": "#/components/schemas/Time"
                  },
                  "waypoints": {
                    "type": [
                      "array",
                      "null"
                    ],
                    "items": {
                      "type": "object",
                      "required": [
                        "latitude",
                        "longitude"
                      ],
                      "properties": {
                        "latitude": {
                          "type": "number",
                          "minimum": -90,
                          "maximum": 90
                        },
                        "longitude": {
                          "type": "number",
                          "minimum": -180,
                          "maximum": 180
                        },
                        "time": {
                          "oneOf": [
                            {
                              "$ref": "#/components/schemas/Time"
                            },
                            {
                              "type": "null"
                            }
                          ]
                        }
                      }
                    },
                    "maxItems": 5000
                  },
                  "sections": {
                    "type": [
                      "array",
                      "null"
                    ],
                    "items": {
                      "type": "object",
                      "required": [
                        "section"
                      ],
                      "properties": {
                        "section": {
                          "type": "string",
                          "minLength": 1,
                          "maxLength": 200
                        },
                        "distance_m": {
                          "type": [
                            "number",
                            "null"
                          ],
                          "minimum": 0,
                          "maximum": 1000000
                        },
                        "habitat": {
                          "$ref": "#/components/schemas/Text"
                        }
                      }
                    },
                    "maxItems": 200
                  },
                  "surveyors": {
                    "type": [
                      "array",
                      "null"
                    ],
                    "items": {
                      "type": "object",
                      "required": [
                        "name",
                        "role"
                      ],
                      "properties": {
                        "name": {
                          "type": "string",
                          "minLength": 1,
                          "maxLength": 200
                        },
                        "role": {
                          "enum": [
                            "recorder",
                            "observer"
                          ]
                        },
                        "expertise": {
                          "$ref": "#/components/schemas/Text"
                        },
                        "mail": {
                          "$ref": "#/components/schemas/Text"
                        },
                        "phone": {
                          "$ref": "#/components/schemas/Text"
                        }
                      }
                    },
                    "maxItems": 50
                  },
                  "observers": {
                    "type": [
                      "integer",
                      "null"
                    ],
                    "minimum": 0,
                    "maximum": 10000
                  },
                  "protocol": {
                    "$ref": "#/components/schemas/Text"
                  },
                  "upland": {
                    "type": [
                      "boolean",
                      "null"
                    ]
                  },
                  "comments": {
                    "$ref": "#/components/schemas/Comment"
                  },
                  "forward_to": {
                    "type": [
                      "string",
                      "null"
                    ],
                    "pattern": "^[A-Za-z0-9._-]{1,64}$"
                  },
                  "weather": {
                    "$ref": "#/components/schemas/Weather"
                  },
                  "sightings": {
                    "type": "array",
                    "items": {
                      "$ref": "#/components/schemas/Sighting"
                    },
                    "maxItems": 2000
                  }
                }
              },
              "Receipt": {
                "type": "object",
                "required": [
                  "receipt",
                  "site",
                  "survey",
                  "received_at",
                  "digest",
                  "status_url"
                ],
                "properties": {
                  "receipt": {"type": "integer"},
                  "site": {
                    "$ref": "#/components/schemas/Id"
                  },
                  "survey": {
                    "$ref": "#/components/schemas/Id"
                  },
                  "received_at": {
                    "type": "string",
                    "format": "date-time"
                  },
                  "digest": {
                    "type": "string",
                    "pattern": "^[0-9a-f]{64}$"
                  },
                  "status_url": {"type": "string"}
                }
              },
              "State": {
                "allOf": [
                  {
                    "$ref": "#/components/schemas/Receipt"
                  },
                  {
                    "type": "object",
                    "required": ["state", "version", "weather"],
                    "properties": {
                      "state": {
                        "enum": ["received", "pending", "stored", "set-aside"]
                      },
                      "version": {
                        "type": ["integer", "null"]
                      },
                      "weather": {
                        "enum": ["known", "pending", null]
                      }
                    }
                  }
                ]
              },
              "Problem": {
                "type": "object",
                "required": ["type", "title", "status", "detail"],
                "properties": {
                  "type": {"type": "string"},
                  "title": {"type": "string"},
                  "status": {"type": "integer"},
                  "detail": {"type": "string"},
                  "faults": {
                    "type": "array",
                    "items": {
                      "type": "string"
                    }
                  }
                }
              }
            }
          }
        }
        """#
}
