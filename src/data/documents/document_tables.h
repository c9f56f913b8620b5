/* Files of texts: FASTA, and one document per line. */
#ifndef GRAM_DATA_DOCUMENTS_DOCUMENT_TABLES_H
#define GRAM_DATA_DOCUMENTS_DOCUMENT_TABLES_H

#include "data/table.h"

extern const gram_format_type gram_fasta_type, gram_lines_type;

#endif
